#!/bin/sh
# From a clone of bruit to a link, with containers: sh deploy/containers.sh survey.toml
# The same command upgrades, and opens a further survey. COMPOSE names another program than docker compose.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/host.env"

fail() {
    echo "$1" >&2
    exit 1
}

[ $# -eq 1 ] && [ -f "$1" ] || fail "Name a survey file: sh deploy/containers.sh survey.toml (bruit survey new writes one)."
[ "$SURVEY_HOST" != survey.example.org ] || fail "Edit deploy/host.env first: SURVEY_HOST is the name of this server."

compose() {
    ${COMPOSE:-docker compose} --env-file "$here/host.env" --file "$here/compose.yaml" "$@"
}

compose build
# Prints the link for respondents and, once, the link to the results.
file=$(basename -- "$1")
folder=$(CDPATH='' cd -- "$(dirname -- "$1")" && pwd)
compose run --rm --no-deps --volume "$folder/$file:/surveys/$file:ro" collector \
    survey open "/surveys/$file" --no-serve \
    --store /data/surveys.sqlite --proxy 10.203.87.2 --address "https://$SURVEY_HOST"
compose up --detach
