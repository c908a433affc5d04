#!/bin/sh
# loyalty.sh runs a command of the product, as root, with the settings of loyalty.service. Install it as
# /usr/local/sbin/loyalty, which the shell prefers to /usr/local/bin/loyalty: without the settings, a command would
# use another database.
#
#   SETTINGS  the file with the settings (/etc/loyalty/loyalty.env)
exec systemd-run --quiet --collect --wait --pty --pipe --same-dir \
	--property=EnvironmentFile="${SETTINGS:-/etc/loyalty/loyalty.env}" /usr/local/bin/loyalty "$@"
