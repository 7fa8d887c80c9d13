"""Tools for agents outside of this process: the corpus behind the Model Context Protocol."""
