// Package traffic forecasts the speeds of METR-LA, a week of 207 loop detectors of
// Los Angeles: on a world that stays as it is, and on one that loses links and
// sensors. Everything goes through files and settings as a user has them.
package traffic
