"""The computations behind the lessons, one file each: settings in, figures out. Made-up people only."""
