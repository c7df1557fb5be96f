package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// seedsJSON is what the demo finds with seeds 1 to 20, by contestant:
//
//	for s in $(seq 20); do wdgnn demo --seed $s --json; done | jq -c '{seed, accuracy: [.learners[].accuracy]}'
//
//go:embed seeds.json
var seedsJSON []byte

// seeded is the accuracy of the contestants where links are lost, 0 to 1, in the
// network of one seed.
type seeded struct {
	Seed     uint64    `json:"seed"`
	Accuracy []float64 `json:"accuracy"`
}

func seeds() (list []seeded) {
	if err := json.Unmarshal(seedsJSON, &list); err != nil {
		panic("demo: seeds.json: " + err.Error()) // it is part of the program
	}
	return list
}

// Many says what the contestants have in the mean over the networks of many seeds.
func Many() string {
	list, parts := seeds(), []string{}
	for k, c := range contestants {
		var values []float64
		for _, s := range list {
			values = append(values, 100*s.Accuracy[k])
		}
		parts = append(parts, fmt.Sprintf("%s %.1f %% ± %.1f", c.Name, mean(values), deviation(values)))
	}
	return fmt.Sprintf("One network of many. Seeds %d to %d, 30 %% of the links lost: %s.",
		list[0].Seed, list[len(list)-1].Seed, strings.Join(parts, ", "))
}
