package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/mat"
)

// kernelsVariable names a kernel set where the command line names none.
const kernelsVariable = "WDGNN_KERNELS"

// useKernels computes with the kernel set of that name, which cmd was given, or of the
// environment if it is empty, here and in the processes that this one starts.
func useKernels(cmd *cobra.Command, name string) error {
	if name != "" {
		if err := mat.UseKernels(name); err != nil {
			return usageError{cmd.CommandPath(), fmt.Errorf("--kernels: %w", err)}
		}
		return os.Setenv(kernelsVariable, name)
	}
	if name = os.Getenv(kernelsVariable); name == "" {
		return nil
	}
	if err := mat.UseKernels(name); err != nil {
		return fmt.Errorf("the variable %s: %w", kernelsVariable, err)
	}
	return nil
}
