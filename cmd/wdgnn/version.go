package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/wdgnn/wdgnn/mat"
)

// release is the version of a release; the linker sets it.
var release string

// version returns the version of the program: that of the release, of the
// module it was installed from, or "devel".
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// VersionCommand prints what program this is.
type VersionCommand struct {
	Stdout io.Writer
	json   bool
}

func (c *VersionCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, and how it computes",
		Long: `Prints the version, and with which loops the program computes on this machine and
why. The flag --kernels, or the variable WDGNN_KERNELS, names others: results of
avx512 and avx2 are the same to the last bit, those of portable agree within
rounding.`,
		Example: `  wdgnn version
  wdgnn version --json
  wdgnn version --kernels portable`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Stdout = cmd.OutOrStdout()
			return c.Run()
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object")
	return cmd
}

// Run prints the version.
func (c *VersionCommand) Run() error {
	v := struct {
		Version string `json:"version"`
		Go      string `json:"go"`
		OS      string `json:"os"`
		Arch    string `json:"arch"`
		Kernels string `json:"kernels"`
		Family  string `json:"kernels_family"`
		Reason  string `json:"kernels_reason"`
	}{version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, mat.Kernels(), mat.Family(), mat.KernelsReason()}
	if c.json {
		return writeJSON(c.Stdout, v)
	}
	_, err := fmt.Fprintf(c.Stdout, "wdgnn %s, %s, %s/%s, kernels %s (%s): %s\n", v.Version, v.Go, v.OS, v.Arch, v.Kernels, v.Family, v.Reason)
	return err
}
