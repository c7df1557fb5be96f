package optim_test

import (
	"fmt"

	"github.com/wdgnn/wdgnn/optim"
)

// The lowest point of (p₀ - 1)² + (p₁ + 2)².
func ExampleAdam() {
	adam, err := optim.NewAdam(2, optim.AdamConfig{StepSize: 0.1})
	if err != nil {
		fmt.Println(err)
		return
	}
	params, grad := make([]float32, 2), make([]float32, 2)
	for range 500 {
		grad[0], grad[1] = 2*(params[0]-1), 2*(params[1]+2)
		optim.ClipNorm(grad, 5)
		adam.Step(params, grad)
	}
	fmt.Printf("%.3f after %d steps\n", params, adam.State().Steps)
	// Output: [1.000 -2.000] after 500 steps
}

// A run that stops and goes on: parameters and state are all it needs.
func ExampleOptimizer() {
	config := optim.SGDConfig{StepSize: 0.5, Momentum: 0.5}
	first, err := optim.NewSGD(1, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	params := []float32{4}
	first.Step(params, []float32{1})
	saved := first.State()
	fmt.Println(params, saved.Steps, saved.Values)

	second, err := optim.NewSGD(1, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := second.Restore(saved); err != nil {
		fmt.Println(err)
		return
	}
	second.Step(params, []float32{1})
	fmt.Println(params)
	// Output:
	// [3.5] 1 [1]
	// [2.75]
}

// A configuration reports everything that is wrong with it.
func ExampleSGDConfig_Validate() {
	fmt.Println(optim.SGDConfig{StepSize: -1, Momentum: 1}.Validate())
	// Output:
	// optim: SGD: step size -1, want a positive float32, or 0 for the default
	// optim: SGD: momentum 1, want 0 ≤ momentum < 1
}

// A gradient of length 5, shortened to length 1.
func ExampleClipNorm() {
	grad := []float32{3, 4}
	norm := optim.ClipNorm(grad, 1)
	fmt.Println(norm, grad)
	// Output: 5 [0.6 0.8]
}
