#!/usr/bin/env bash
# Checks the kernels that match FILES and, with BASE, differ from that commit. Status as of ptokit.
# Of those it writes a table of predicted times, into the summary of the run and, with COMMENT, into
# a comment of the pull request NUMBER, which later runs write anew.
set -euo pipefail
set -f # patterns are git's, not the shell's
if [ -n "${BASE:-}" ]; then
  git cat-file -e "$BASE^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$BASE"
  mapfile -d '' kernels < <(git diff --name-only --diff-filter=ACMR -z "$BASE" -- $FILES)
else
  mapfile -d '' kernels < <(git ls-files -z -- $FILES)
fi
if [ ${#kernels[@]} -eq 0 ]; then
  echo "no kernel matches $FILES${BASE:+ and differs from $BASE}"
  exit 0
fi
echo "ptokit checks ${kernels[*]}"
if [ -n "${SARIF:-}" ]; then
  ptokit check "${kernels[@]}" --target "$TARGET" --format sarif >"$SARIF" || true
fi
status=0
ptokit check "${kernels[@]}" --target "$TARGET" --format github || status=$?

marker="<!-- ptokit: predicted cycles -->"
table=$(ptokit profile "${kernels[@]}" --target "$TARGET" ${BASE:+--compare "$BASE"} --format markdown) || true
if [ -n "$table" ]; then
  body="$marker"$'\n'"### Predicted cycles"$'\n\n'"$table"
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    printf '%s\n' "$body" >>"$GITHUB_STEP_SUMMARY"
  fi
  if [ "${COMMENT:-}" = true ] && [ -n "${NUMBER:-}" ]; then
    comments="repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments"
    mine=$(gh api --paginate "$comments" --jq ".[] | select(.body | startswith(\"$marker\")) | .id" | head -n 1)
    if [ -n "$mine" ]; then
      gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$mine" -f body="$body"
    else
      gh api --silent "$comments" -f body="$body"
    fi
  fi
fi
exit $status
