#!/bin/sh
# Adds yesterday's file to the state and sends a mail if the alarm is raised. In crontab: 0 6 * * * /path/to/monitor-cron.sh
cd "${DATA_FOLDER:-$HOME/data}" || exit 2
day=$(date -d yesterday +%F)
[ -f days.kqm ] || set -- baseline.csv
kqd monitor "$@" "day-$day.csv" --state days.kqm --alarm --exit-code --report days.html >days.txt
case $? in
  0) ;;
  1) mail -s "data changed" "${MAIL_TO:-$USER}" <days.txt ;;
  *) mail -s "kqd monitor failed" "${MAIL_TO:-$USER}" <days.txt ;;
esac
