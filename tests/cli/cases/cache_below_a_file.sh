# A folder cannot be made where a file is in its way: the message names that file.
mkdir data && echo file >file
for cache in file file/below file/far/below; do
  xtts-precompute data "$cache" 2>&1; echo "exit code $?"
done
