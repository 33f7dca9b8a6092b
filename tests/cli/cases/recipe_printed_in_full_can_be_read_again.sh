xtts-precompute recipes vocos-24k > a.yaml
xtts-precompute recipes ./a.yaml > b.yaml
cmp a.yaml b.yaml && grep -c . a.yaml | grep -qv "^0$" && echo same
