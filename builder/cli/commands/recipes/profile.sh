# Exit code 1 is a regression. 3: the baseline is from another machine, or cannot be read; the default branch then writes a new one.
baseline=$TRIB_STATE/baseline.json
if [ "$MAIN" = true ]; then keep="--save --update-if-better"; else keep=; fi
if [ -e "$baseline" ] || [ "$MAIN" = true ]; then
  status=0
  trib profile check --baseline "$baseline" $keep --format markdown > "$TRIB_STATE/profile.md" || status=$?
  cat "$TRIB_STATE/profile.md"
  if [ $status = 1 ]; then exit 1; fi
  if [ $status != 0 ] && [ "$MAIN" = true ]; then
    rm -f "$baseline"
    trib profile check --baseline "$baseline" --save
  fi
else
  echo "no baseline yet: a push to the default branch writes it"
fi
