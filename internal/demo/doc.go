// Package demo is what wdgnn demo shows: links are lost, and nodes
// that keep learning answer beside the model as it was trained; in a terminal, or
// on a page where those who watch break links themselves.
package demo
