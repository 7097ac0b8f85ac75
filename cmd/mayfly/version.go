package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (c command) version() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := versionOf()
			if asJSON {
				return printJSON(c.out, v)
			}
			fmt.Fprintf(c.out, "mayfly %s\n", v.Version)
			if v.Revision != "" {
				fmt.Fprintf(c.out, "revision %s\n", v.Revision)
			}
			fmt.Fprintf(c.out, "%s %s\n", v.Go, v.Platform)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// versionOf is what the toolchain wrote into the binary.
func versionOf() version {
	v := version{Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Version = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	if v.Version == "(devel)" {
		v.Version = ""
	}
	v.Version = cmp.Or(v.Version, "development")
	return v
}

func versionText() string { return versionOf().Version }
