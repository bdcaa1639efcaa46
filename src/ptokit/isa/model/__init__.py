"""The model of data and machine: tile types, views, enumerations, targets."""
