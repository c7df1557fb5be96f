package main

// plan is a model: how it is trained and what it is asked.
type plan struct {
	name, holds string
	commands    []string
	model       string
	ask         []string
}

const traffic = `cat > traffic.yaml <<'END'
seed: 12
out: traffic
forecast:
  series: metr-la/speed.csv
  graph: metr-la/adjacency.csv
  missing: 0
  unit: mph
  horizons: [1, 3, 6, 12]
  season: 288
model:
  wide: {order: 2}
  deep:
    - {order: 2, features: 32}
    - {order: 2, features: 32}
train:
  epochs: 40
  batch_size: 32
  adam: {step_size: 0.003}
  average: 0.999
END`

var plans = []plan{
	{
		name: "example", holds: "its class stays",
		commands: []string{"wdgnn init first", "wdgnn train first/config.yaml -q"},
		model:    "first/run/model.safetensors --config first/config.yaml",
		ask:      []string{"--lost 2", "--lost 2 --of nodes", "--drop 0.05,0.3", "--noise 0.05", "--liar"},
	},
	{
		name: "Table 1", holds: "its class stays",
		commands: []string{
			"wdgnn init --task sourceloc paper",
			"sed '/inputs:/d; /outage:/d; /average:/d; s/epochs: 40/epochs: 100/; s/step_size: 0.01/step_size: 0.005/' " +
				"paper/config.yaml > paper/table1.yaml",
			"wdgnn train paper/table1.yaml -q",
		},
		model: "paper/run/model.safetensors --config paper/table1.yaml",
		ask:   []string{"--lost 2", "--lost 2 --of nodes", "--drop 0.05,0.3", "--noise 0.005", "--liar"},
	},
	{
		name: "robots", holds: "it moves by 1 m/s² at most",
		commands: []string{"wdgnn init --task flocking robots", "wdgnn train robots/config.yaml -q"},
		model:    "robots/run/model.safetensors --config robots/config.yaml --within 1",
		ask:      []string{"--lost 2", "--lost 2 --of nodes", "--drop 0.05,0.3", "--noise 0.3", "--liar"},
	},
	{
		name: "traffic", holds: "it moves by 5 mph at most",
		commands: []string{traffic, "wdgnn train traffic.yaml -q"},
		model:    "traffic/model.safetensors --config traffic.yaml --within 5",
		ask: []string{
			"--lost 1", "--lost 2 --of nodes --samples 10", "--drop 0.05,0.3 --samples 10", "--noise 5 --samples 10", "--liar --samples 10",
		},
	},
}
