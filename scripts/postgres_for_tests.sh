#!/usr/bin/env bash
# Start a throw-away PostgreSQL for the tests on a Unix socket, and print its URL. Called again, it prints the same.
# The URL is that of a role which is no superuser, since row-level security does not apply to superusers.
#
#   export HEXAMEM_TEST_POSTGRES="$(scripts/postgres_for_tests.sh)"     start, or find it running
#   scripts/postgres_for_tests.sh crash                                 stop it as a crash would; restart: and start it again
#   scripts/postgres_for_tests.sh stop                                  stop it and remove its folder
#
# Needs the server's binaries (Debian: apt-get install postgresql), on the PATH or under /usr/lib/postgresql; exits 3
# where there are none. A server refuses to run as root, so for root everything is done as the user "postgres".
set -euo pipefail

folder="${TMPDIR:-/tmp}/hexamem-postgres-$(id -u)"

find_binaries() {
    local found
    found="$(command -v initdb || true)"
    if [ -z "$found" ]; then
        found="$(ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | sort -V | tail -n 1)"
    fi
    if [ -z "$found" ]; then
        echo "no PostgreSQL server here: initdb is neither on the PATH nor under /usr/lib/postgresql/*/bin" >&2
        exit 3
    fi
    dirname "$(readlink -f "$found")"
}

as_owner() {
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && setpriv --reuid=postgres --regid=postgres --init-groups -- "$@")
    else
        "$@"
    fi
}

binaries="$(find_binaries)"
data="$folder/data"

running() {
    as_owner "$binaries/pg_ctl" --pgdata="$data" status >/dev/null 2>&1
}

if [ "${1:-start}" = stop ]; then
    if running; then
        as_owner "$binaries/pg_ctl" --pgdata="$data" --mode=immediate --wait stop >/dev/null
    fi
    rm -rf "$folder"
    exit 0
fi
case "${1:-start}" in
crash) as_owner "$binaries/pg_ctl" --pgdata="$data" --mode=immediate --wait stop >/dev/null && exit ;;
restart) as_owner "$binaries/pg_ctl" --pgdata="$data" --mode=immediate --wait --log="$folder/log" restart >/dev/null && exit ;;
esac

if ! running; then
    if [ ! -f "$data/PG_VERSION" ]; then
        rm -rf "$folder"
        mkdir -p -m 755 "$folder"
        if [ "$(id -u)" -eq 0 ]; then
            chown postgres "$folder"
        fi
        as_owner "$binaries/initdb" --pgdata="$data" --username=postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 \
            --no-sync >/dev/null
    fi
    # No TCP port is opened; the tests need speed, not durability.
    as_owner "$binaries/pg_ctl" --pgdata="$data" --log="$folder/log" --wait \
        --options="-c listen_addresses='' -c unix_socket_directories='$folder' -c fsync=off -c full_page_writes=off" \
        start >/dev/null
    if ! as_owner "$binaries/psql" --host="$folder" --username=hexamem --command="" hexamem 2>/dev/null; then
        as_owner "$binaries/createuser" --host="$folder" --username=postgres hexamem
        as_owner "$binaries/createdb" --host="$folder" --username=postgres --owner=hexamem hexamem
    fi
fi
echo "postgresql+psycopg://hexamem@/hexamem?host=$folder"
