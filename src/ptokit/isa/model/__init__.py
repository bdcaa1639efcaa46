"""The machine and its data: element types, layouts, tile types, enumerations, targets."""
