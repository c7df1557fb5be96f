package box

import "github.com/wdgnn/wdgnn/host"

// counter is one count of a report.
type counter struct {
	name, help string
	value      func(*host.Report) uint64
}

// counters are all counts of a report: of the host itself, of its agents
// together, and of its bus.
var counters = []counter{
	{"wdgnn_host_steps_total", "steps in which every node was done", func(r *host.Report) uint64 { return r.Stats.Steps }},
	{"wdgnn_host_skipped_total", "steps left out to catch up", func(r *host.Report) uint64 { return r.Stats.Skipped }},
	{"wdgnn_host_caught_up_total", "times that all neighbours were ahead", func(r *host.Report) uint64 { return r.Stats.CaughtUp }},
	{"wdgnn_host_retries_total", "times that silent neighbours were asked again", func(r *host.Report) uint64 { return r.Stats.Retries }},
	{
		"wdgnn_host_prompt_total", "times that somebody was asked at once, because a frame of it was lost",
		func(r *host.Report) uint64 { return r.Stats.Prompt },
	},
	{
		"wdgnn_host_repeated_total", "rows that were sent twice, because others lose frames",
		func(r *host.Report) uint64 { return r.Stats.Repeated },
	},
	{"wdgnn_host_suspected_total", "neighbours that were no longer waited for", func(r *host.Report) uint64 { return r.Stats.Suspected }},
	{"wdgnn_host_late_rows_total", "rows of past steps", func(r *host.Report) uint64 { return r.Stats.LateRows }},
	{"wdgnn_host_gaps_total", "frames that did not come, by their numbers", func(r *host.Report) uint64 { return r.Stats.Gaps }},
	{"wdgnn_host_disordered_total", "frames that came late or twice", func(r *host.Report) uint64 { return r.Stats.Disordered }},
	{
		"wdgnn_host_overflows_total", "frames of steps to come for which there was no room",
		func(r *host.Report) uint64 { return r.Stats.Overflows },
	},
	{"wdgnn_host_bad_frames_total", "frames that cannot be read", func(r *host.Report) uint64 { return r.Stats.BadFrames }},
	{"wdgnn_host_other_runs_total", "frames of another run", func(r *host.Report) uint64 { return r.Stats.OtherRuns }},
	{
		"wdgnn_host_other_plans_total", "frames of hosts with another model, scale or rule",
		func(r *host.Report) uint64 { return r.Stats.OtherPlans },
	},
	{"wdgnn_host_impostors_total", "frames and rows in somebody else's name", func(r *host.Report) uint64 { return r.Stats.Impostors }},
	{
		"wdgnn_host_joined_total", "records of hosts that came later, or got more nodes, taken",
		func(r *host.Report) uint64 { return r.Stats.Joined },
	},
	{
		"wdgnn_host_refused_records_total", "records of hosts that were not taken: not signed, of another run, older, revoked, absurd",
		func(r *host.Report) uint64 { return r.Stats.RefusedRecords },
	},
	{
		"wdgnn_host_quarantined_total", "frames of hosts in quarantine, not used",
		func(r *host.Report) uint64 { return r.Stats.Quarantined },
	},
	{
		"wdgnn_host_unknown_messages_total", "messages of kinds that came after this program, passed over",
		func(r *host.Report) uint64 { return r.Stats.UnknownMessages },
	},
	{"wdgnn_host_refused_events_total", "events that an agent refused", func(r *host.Report) uint64 { return r.Stats.RefusedEvents }},
	{"wdgnn_host_bad_lines_total", "lines of the world that cannot be read", func(r *host.Report) uint64 { return r.Stats.BadLines }},
	{"wdgnn_host_stale_lines_total", "lines of the world about past steps", func(r *host.Report) uint64 { return r.Stats.StaleLines }},
	{
		"wdgnn_host_stray_lines_total", "lines of the world about nodes that are not here",
		func(r *host.Report) uint64 { return r.Stats.StrayLines },
	},
	{"wdgnn_host_bad_targets_total", "costs that make no sense", func(r *host.Report) uint64 { return r.Stats.BadTargets }},
	{"wdgnn_host_lost_answers_total", "answers that the world did not take", func(r *host.Report) uint64 { return r.Stats.LostAnswers }},
	{
		"wdgnn_host_unanswered_total", "steps that the next line, or the end of the box, ended before there was an answer",
		func(r *host.Report) uint64 { return r.Stats.Unanswered },
	},
	{
		"wdgnn_host_lost_outputs_total", "outputs of nodes that are not finite and were left out of an answer",
		func(r *host.Report) uint64 { return r.Stats.LostOutputs },
	},
	{
		"wdgnn_host_unknown_neighbours_total", "links to nodes that nobody runs",
		func(r *host.Report) uint64 { return r.Stats.UnknownNeighbours },
	},
	{
		"wdgnn_host_broken_total", "times that a sensor was found broken, where nodes forecast",
		func(r *host.Report) uint64 { return r.Stats.Broken },
	},
	{"wdgnn_host_checkpoints_total", "checkpoints written", func(r *host.Report) uint64 { return r.Stats.Checkpoints }},
	{
		"wdgnn_host_failed_checkpoint_total", "checkpoints not written; the one before is still there",
		func(r *host.Report) uint64 { return r.Stats.FailedCheckpoint },
	},
	{"wdgnn_agent_steps_total", "updates that nodes made", func(r *host.Report) uint64 { return r.Agents.Steps }},
	{"wdgnn_agent_predicted_total", "predictions", func(r *host.Report) uint64 { return r.Agents.Predicted }},
	{"wdgnn_agent_abandoned_total", "steps that ended before they were done", func(r *host.Report) uint64 { return r.Agents.Abandoned }},
	{"wdgnn_agent_skipped_total", "times left out between two steps", func(r *host.Report) uint64 { return r.Agents.Skipped }},
	{"wdgnn_agent_diverged_total", "updates that were refused, parameters kept", func(r *host.Report) uint64 { return r.Agents.Diverged }},
	{
		"wdgnn_agent_anew_total", "times that a node began again with the trained taps",
		func(r *host.Report) uint64 { return r.Agents.Anew },
	},
	{
		"wdgnn_agent_late_total", "targets of earlier steps that were learned from",
		func(r *host.Report) uint64 { return r.Agents.Late },
	},
	{"wdgnn_agent_received_total", "messages that were used", func(r *host.Report) uint64 { return r.Agents.Received }},
	{"wdgnn_agent_kept_total", "messages of a later step", func(r *host.Report) uint64 { return r.Agents.Kept }},
	{
		"wdgnn_agent_stale_total", "messages of a past step, or of a hop that was given up",
		func(r *host.Report) uint64 { return r.Agents.Stale },
	},
	{"wdgnn_agent_duplicates_total", "messages heard before", func(r *host.Report) uint64 { return r.Agents.Duplicates }},
	{
		"wdgnn_agent_strangers_total", "messages from nodes that are no neighbours in this step",
		func(r *host.Report) uint64 { return r.Agents.Strangers },
	},
	{
		"wdgnn_agent_refused_total", "messages that are malformed, not finite or too long",
		func(r *host.Report) uint64 { return r.Agents.Refused },
	},
	{
		"wdgnn_agent_left_out_total",
		"parameters of neighbours that were left out of a mixture, too far from the trained ones",
		func(r *host.Report) uint64 { return r.Agents.LeftOut },
	},
	{"wdgnn_agent_expired_total", "links dropped because nothing came", func(r *host.Report) uint64 { return r.Agents.Expired }},
	{
		"wdgnn_agent_clipped_total", "vectors shortened to clip_norm",
		func(r *host.Report) uint64 { return r.Agents.Clipped },
	},
	{"wdgnn_agent_asked_total", "requests to send again", func(r *host.Report) uint64 { return r.Agents.Asked }},
	{"wdgnn_agent_resent_total", "answers to such requests", func(r *host.Report) uint64 { return r.Agents.Resent }},
	{
		"wdgnn_agent_shortened_total", "rows and vectors of its own, too long for others to take",
		func(r *host.Report) uint64 { return r.Agents.Shortened },
	},
	{"wdgnn_bus_sent_total", "frames sent", func(r *host.Report) uint64 { return r.Bus.Sent }},
	{"wdgnn_bus_sent_bytes_total", "bytes of frames sent", func(r *host.Report) uint64 { return r.Bus.SentBytes }},
	{"wdgnn_bus_received_total", "frames received", func(r *host.Report) uint64 { return r.Bus.Received }},
	{"wdgnn_bus_received_bytes_total", "bytes of frames received", func(r *host.Report) uint64 { return r.Bus.ReceivedBytes }},
	{"wdgnn_bus_dropped_total", "frames for which there was no room", func(r *host.Report) uint64 { return r.Bus.Dropped }},
	{
		"wdgnn_bus_refused_total", "frames and connections that were not what they claimed, and what a server forbade",
		func(r *host.Report) uint64 { return r.Bus.Refused },
	},
	{"wdgnn_bus_failed_total", "frames that could not be sent", func(r *host.Report) uint64 { return r.Bus.Failed }},
	{"wdgnn_bus_reconnects_total", "connections that were made again", func(r *host.Report) uint64 { return r.Bus.Reconnects }},
	{
		"wdgnn_world_connects_total", "connections with the MQTT broker of the world, the first included",
		func(r *host.Report) uint64 { return broker(r).Connects },
	},
}
