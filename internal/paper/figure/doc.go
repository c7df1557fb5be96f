// Package figure draws the charts of the experiments: curves over time or over
// a parameter ([Figure]), paths of robots in the plane ([Paths]) and graphs with their
// links coloured ([Network]). A chart is a plain value; it is checked when it is drawn
// and comes out as SVG or PNG.
//
// All charts share one look: white paper, thin light grid, the y label above
// its axis instead of turned by its side, names at the ends of their curves
// where there is room and in a row above the chart otherwise, so that nothing
// covers a curve. Colours are those of Okabe and Ito, which people with any
// kind of colour vision can tell apart; dashes and markers tell the same story
// without colours.
//
// The same value gives the same bytes: nothing depends on the hour, the machine's
// fonts or the order of a map. (Other processor architectures may round the
// pixels of a PNG differently.) Charts are not changed by drawing; several
// goroutines may draw one at the same time.
//
// The package stands on the drawing layer of gonum.org/v1/plot and sets axes
// and labels itself.
package figure
