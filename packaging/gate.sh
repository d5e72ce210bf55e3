#!/usr/bin/env bash
# The gate as a step of a workflow (action.yml): funnel audit with limits, its words in the step's summary,
# its exit code that of the step: 0 every limit is kept, 3 one is broken, 2 the request is wrong.
set -uo pipefail
options=(-s "$SENSITIVE" -x "$PUBLIC" -o "$REPORT" --force)
for limit in MAX_LEAKAGE MAX_GUESS MIN_K MIN_L MAX_T; do
  if [ -n "${!limit:-}" ]; then
    name=${limit//_/-}
    options+=("--${name,,}" "${!limit}")
  fi
done
[ "${ATTACKERS:-false}" = true ] || options+=(--no-attackers)

words=$(funnel audit "$TABLE" "${options[@]}" 2>&1)
code=$?
printf '%s\n' "$words"
case $code in
  0) verdict=kept ;;
  3) verdict=broken ;;
  *) exit $code ;;
esac
{
  echo "verdict=$verdict"
  echo "report=$REPORT"
} >>"${GITHUB_OUTPUT:-/dev/null}"
{
  echo "### What the published columns give away"
  echo '```text'
  printf '%s\n' "$words"
  echo '```'
} >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
exit $code
