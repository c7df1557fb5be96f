// Package live is the form in which anything that runs shows itself: a demo, a
// swarm of agents, a recorded run, a rating service.
//
// A [Scene] says once what there is to see: nodes, links, learners, curves,
// counters and the controls that the process allows. A [Frame] is one moment of
// it. A producer publishes frames to a [Hub], which never makes it wait: whoever
// watches has a bounded queue and loses frames if it is slow. Commands of those
// who watch come back on a channel. A [Recorder] writes what a hub shows to a
// folder; [Open] reads it back.
//
//	hub, err := live.NewHub(scene)
//	for … {
//		select {
//		case c := <-hub.Commands(): …
//		default:
//		}
//		if hub.Due() {
//			err = hub.Publish(&live.Frame{Time: t, Curves: …})
//		}
//	}
//
// The package draws nothing and knows no HTTP; package liveweb shows hubs and
// recordings in a browser.
package live
