"""Pictures as SVG, for all who show one; README.md of this folder says what a figure is. Standard library only."""
