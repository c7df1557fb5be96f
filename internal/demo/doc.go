// Package demo is what wdgnn demo shows: links are lost, a frozen model
// stumbles, and nodes that keep learning recover; in a terminal, or on a page
// where those who watch break links themselves.
package demo
