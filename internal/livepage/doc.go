// Package livepage is the page in which a browser shows what package live
// describes: its HTML, styles and scripts. Package serve hands them out one by
// one, with a stream of events behind them; [Export] puts all of them and a
// recording into one file.
package livepage
