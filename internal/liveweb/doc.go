// Package liveweb is the live page over HTTP, [Live], of anything that shows itself on a
// hub of package live, was recorded, or is a table of wdgnn reproduce. What the page
// consists of is in package livepage.
//
// What every server of the program does with a request is here too: who may come in
// ([Gate]), what is wrong with a request ([Problem]) and how long it may take.
package liveweb
