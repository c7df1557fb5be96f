package swarm

// BenchSource and BenchFlock are the tasks of measurements.
func BenchSource(signals int) (*Task, error) { return (&Bench{Seed: 1}).benchSource(signals) }
func BenchFlock(steps int) (*Task, error)    { return (&Bench{Seed: 1}).benchFlock(steps) }
