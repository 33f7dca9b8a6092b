# A failed build removes the folder that it made. A folder that was there stays.
mkdir data there
echo "no sound" >data/text.txt
xtts-precompute data new --quiet 2>/dev/null; echo "exit code $?"
xtts-precompute data there --quiet 2>/dev/null; echo "exit code $?"
xtts-precompute nowhere new --quiet 2>/dev/null; echo "exit code $?"
xtts-precompute data new --quiet --recipe nobody 2>/dev/null; echo "exit code $?"
ls -A . there
