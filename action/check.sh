#!/usr/bin/env bash
# Checks the kernels that match FILES and, with BASE, differ from that commit. Status as of ptokit.
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
ptokit check "${kernels[@]}" --target "$TARGET" --format github
