"""Drawing: estimates and axes in, axes out."""
