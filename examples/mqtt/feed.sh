#!/bin/sh
# Plays the thermometers of the house: each sends a row of readings.csv every two seconds, in
# a message with the time of this machine.
#
#   ./feed.sh [STEPS [options of mosquitto_pub]]
#
# such as ./feed.sh 30 -h localhost -p 8883 --cafile ca.crt -u house -P "$(cat password)"
readings=$(dirname "$0")/readings.csv
steps=${1:-1200}
[ $# -eq 0 ] || shift

# sensor COLUMN NAME sends the readings of one thermometer; it has none where a cell is empty.
sensor() {
	column=$1
	name=$2
	shift 2
	tail -n +2 "$readings" | head -n "$steps" | cut -d , -f "$column" | while read -r value; do
		sleep $((2 - $(date +%s) % 2)) # steps are at even seconds
		[ -z "$value" ] || echo "{\"temperature\": $value, \"time\": \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\"}"
	done | mosquitto_pub -l -q 1 -t "sensors/$name/temperature" "$@"
}

column=1
for name in $(head -n 1 "$readings" | tr , ' '); do
	[ "$name" = time ] || sensor "$column" "$name" "$@" &
	column=$((column + 1))
done
wait
