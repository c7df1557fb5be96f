package main

import (
	"os"

	"github.com/wdgnn/wdgnn/mat"
)

// kernelsVariable names a kernel set where the command line names none.
const kernelsVariable = "WDGNN_KERNELS"

// useKernels computes with the kernel set of that name, or of the environment if
// it is empty, here and in the processes that this one starts.
func useKernels(name string) error {
	if name == "" {
		if name = os.Getenv(kernelsVariable); name == "" {
			return nil
		}
	}
	if err := mat.UseKernels(name); err != nil {
		return err
	}
	return os.Setenv(kernelsVariable, name)
}
