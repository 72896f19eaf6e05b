#!/bin/sh
# From a clone of bruit on Debian 12 or newer to a link, without containers: sudo sh deploy/debian.sh survey.toml
# The same command upgrades, and opens a further survey.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/host.env"

fail() {
    echo "$1" >&2
    exit 1
}

[ $# -eq 1 ] && [ -f "$1" ] || fail "Name a survey file: sudo sh deploy/debian.sh survey.toml (bruit survey new writes one)."
[ "$SURVEY_HOST" != survey.example.org ] || fail "Edit deploy/host.env first: SURVEY_HOST is the name of this server."
[ "$(id -u)" -eq 0 ] || fail "Run it as root: sudo sh deploy/debian.sh $1"

file=$(basename -- "$1")
apt-get install --yes --no-install-recommends python3-venv caddy
id bruit >/dev/null 2>&1 || useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin bruit
[ -x /opt/bruit/bin/python ] || python3 -m venv /opt/bruit
/opt/bruit/bin/python -m pip install --quiet --upgrade "$here/..[collector]"

install -d -m 0755 /etc/bruit /etc/bruit/surveys /etc/systemd/system/caddy.service.d
install -d -m 0700 -o bruit -g bruit /var/lib/bruit /var/cache/bruit
install -m 0644 "$here/host.env" /etc/bruit/host.env
install -m 0644 "$1" /etc/bruit/surveys/
install -m 0644 "$here/bruit.service" /etc/systemd/system/bruit.service
install -m 0644 "$here/caddy.conf" /etc/systemd/system/caddy.service.d/bruit.conf
[ -e /etc/caddy/Caddyfile.before-bruit ] || cp -p /etc/caddy/Caddyfile /etc/caddy/Caddyfile.before-bruit
install -m 0644 "$here/Caddyfile" /etc/caddy/Caddyfile

# Prints the link for respondents and, once, the link to the results.
cd /var/lib/bruit
setpriv --reuid=bruit --regid=bruit --clear-groups env NUMBA_CACHE_DIR=/var/cache/bruit \
    /opt/bruit/bin/bruit survey open "/etc/bruit/surveys/$file" --no-serve \
    --store /var/lib/bruit/surveys.sqlite --proxy 127.0.0.1 --address "https://$SURVEY_HOST"

systemctl daemon-reload
systemctl enable --quiet bruit.service caddy.service
systemctl restart bruit.service caddy.service
