xtts-precompute ls cache --where 'seconds > 2 and speker == "anna"'
