package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// released and commit are the version and the commit of a release, set by its build:
//
//	go build -ldflags '-X main.released=v0.1.0 -X main.commit=…' ./cmd/mayfly
//
// They are empty in other builds, which have what the toolchain finds out from the clone.
var released, commit string

func (c command) version() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := versionOf(debug.ReadBuildInfo())
			if asJSON {
				return printJSON(c.out, v)
			}
			fmt.Fprintf(c.out, "mayfly %s\n", v.Version)
			if v.Commit != "" {
				fmt.Fprintf(c.out, "commit %s\n", v.Commit)
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
	Commit   string `json:"commit,omitempty"` // ends in -dirty if the clone had other changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// versionOf is the version that the build wrote into the binary; info is what the toolchain wrote.
func versionOf(info *debug.BuildInfo, ok bool) version {
	v := version{Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	dirty := ""
	if ok {
		v.Version = info.Main.Version
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				v.Commit = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = "-dirty"
			}
		}
	}
	if v.Commit != "" {
		v.Commit += dirty
	}
	if v.Version == "(devel)" {
		v.Version = ""
	}
	v.Version, v.Commit = cmp.Or(released, v.Version, "development"), cmp.Or(commit, v.Commit)
	return v
}

func versionText() string { return versionOf(debug.ReadBuildInfo()).Version }
