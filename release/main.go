// Command release builds everything that a release of mayfly consists of, into one folder: binaries
// in archives, Debian packages, a container image, a bill of materials and checksums. It needs Go,
// git and nothing else, and the same commit gives the same bytes on every machine. It uploads nothing.
//
//	go run . -version v0.1.0
//
// It is a module of its own, so that what it needs is not among what mayfly needs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	version := flags.String("version", "", "version of the release, such as v0.1.0")
	root := flags.String("root", "..", "folder of mayfly's sources")
	out := flags.String("out", "../dist", "folder for the files, made anew")
	platforms := flags.String("platforms", strings.Join(everyPlatform, ","), "what to build for")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r, err := newRelease(ctx, *version, *root, *out, strings.Split(*platforms, ","))
	if err != nil {
		return err
	}
	if strings.HasSuffix(r.commit, "-dirty") {
		fmt.Fprintln(os.Stderr, "release: the work tree has changes: this is no release of",
			strings.TrimSuffix(r.commit, "-dirty"))
	}
	return r.build(ctx)
}
