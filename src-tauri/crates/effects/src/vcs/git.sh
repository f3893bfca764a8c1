# Runs inside the walls, at the root of the folder, with plumbing alone: no hook, no pager, no editor, no helper, no
# filter, no configuration but the repository's own, and no network. The ref moves by compare-and-swap, last. What git
# writes it syncs; folders and logs of refs, which it does not, are synced by whoever has started this.
set -eu
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 GIT_ASKPASS=false \
  GIT_EDITOR=false GIT_PAGER=cat GIT_OPTIONAL_LOCKS=0 GIT_NO_LAZY_FETCH=1 GIT_NO_REPLACE_OBJECTS=1 \
  GIT_LITERAL_PATHSPECS=1 GIT_DIR=.git GIT_WORK_TREE=.
git() {
  command git -c safe.directory='*' -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.pager=cat \
    -c core.editor=false -c core.attributesFile=/dev/null -c core.excludesFile=/dev/null -c credential.helper= \
    -c protocol.allow=never -c commit.gpgSign=false -c tag.gpgSign=false -c gc.auto=0 -c maintenance.auto=false \
    -c core.fsync=all -c core.fsyncMethod=fsync "$@"
}
stop() { echo "hermit: $1" >&2; exit 3; }
op=$1 ref=$2 prior=$3 stamp=$4
shift 4
if [ "$op" = name ]; then
  git cat-file -e "$1^{commit}" || stop "there is no commit $1"
  echo "hermit-new $1"
  git update-ref -m "hermit: made" "$ref" "$1" ""
  exit 0
fi
# What is checked out, here or in another worktree, is never moved under whoever works there.
free() {
  trees=$(git worktree list --porcelain) || stop "nobody can say what is checked out"
  if printf '%s\n' "$trees" | grep -Fqx "branch $ref"; then stop "$ref is checked out; it is left alone"; fi
}
if [ "$op" = move ]; then
  git cat-file -e "$1^{commit}" || stop "there is no commit $1"
  free
  [ "$2" = any ] || git merge-base --is-ancestor "$prior" "$1" ||
    stop "$1 does not come after $prior: moving $ref there would leave commits behind"
  echo "hermit-new $1"
  git update-ref -m "hermit: moved" "$ref" "$1" "$prior"
  exit 0
fi
if [ "$op" = delete ]; then
  free
  echo "hermit-new nothing"
  git update-ref -d "$ref" "$prior"
  exit 0
fi
message=$1
shift
name=$(git config --local user.name || echo Hermit)
mail=$(git config --local user.email || echo hermit@localhost)
export GIT_AUTHOR_NAME="$name" GIT_AUTHOR_EMAIL="$mail" GIT_AUTHOR_DATE="@$stamp +0000"
export GIT_COMMITTER_NAME="$name" GIT_COMMITTER_EMAIL="$mail" GIT_COMMITTER_DATE="@$stamp +0000"
own=${TMPDIR:-/tmp}
lines=$own/hermit-lines
: > "$lines"
while [ $# -gt 0 ]; do
  path=$1 mode=$2 want=$3
  shift 3
  if [ "$mode" = gone ]; then
    printf '0 %s\t%s\0' 0000000000000000000000000000000000000000 "$path" >> "$lines"
    continue
  fi
  for attr in filter working-tree-encoding; do
    case $(git check-attr "$attr" -- "$path") in
      *": unspecified" | *": unset") ;;
      *) stop "a program of the repository rewrites $path when it is committed ($attr); commit it yourself" ;;
    esac
  done
  object=$(git hash-object -w --no-filters -- "$path")
  got=$(git cat-file blob "$object" | sha256sum)
  [ "${got%% *}" = "$want" ] || stop "$path has changed since it was looked at"
  printf '%s %s\t%s\0' "$mode" "$object" "$path" >> "$lines"
done
export GIT_INDEX_FILE="$own/hermit-index"
if [ -n "$prior" ]; then git read-tree "$prior"; else git read-tree --empty; fi
git update-index -z --index-info < "$lines"
tree=$(git write-tree)
if [ -n "$prior" ]; then
  [ "$tree" != "$(git rev-parse --verify -q "$prior^{tree}")" ] || stop "there is nothing to commit: the files are as they are there"
  new=$(printf '%s' "$message" | git commit-tree "$tree" -p "$prior")
else
  new=$(printf '%s' "$message" | git commit-tree "$tree")
fi
echo "hermit-new $new"
git update-ref -m "hermit: commit" "$ref" "$new" "$prior"
# What was committed is not to stand there as undone: the index of the branch one is on learns of it.
unset GIT_INDEX_FILE
if [ "$(git symbolic-ref -q HEAD || true)" = "$ref" ]; then
  git update-index -z --index-info < "$lines" || echo "hermit-index the index was busy and does not know of it yet"
fi
