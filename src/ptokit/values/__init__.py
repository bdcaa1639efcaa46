"""Values: element types, layouts, extents, conversions, the fix-pipe, orders of additions."""
