// Stand serves one part of a cluster's test bed until it is killed: the
// placement driver, or a store. It prints the address that it listens on.
//
//	stand placement -data DIR [-listen 127.0.0.1:0]
//	stand store -data DIR -placement HOST:PORT [-listen 127.0.0.1:0]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/mayflydb/mayfly/conformance/cluster/placement"
	"github.com/mayflydb/mayfly/conformance/cluster/store"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "stand:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("say placement or store")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "address to serve gRPC on; port 0 takes a free one")
	data := flags.String("data", "", "folder that keeps everything over restarts")
	pd := flags.String("placement", "", "address of the placement driver")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *data == "" {
		return errors.New("-data is needed")
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	switch args[0] {
	case "placement":
		return placement.Serve(ctx, l, *data)
	case "store":
		return store.Serve(ctx, l, *pd, *data)
	}
	return fmt.Errorf("no part is called %q", args[0])
}
