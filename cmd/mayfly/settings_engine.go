package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/kv/tikv"
)

// clusterTLS are files for TLS to a cluster, or none.
type clusterTLS struct{ ca, cert, key string }

func parseEngine(c *config, value string) error {
	c.cluster = value
	if value == "" {
		return nil
	}
	_, err := tikv.ParseAddress(value)
	return err
}

func parseEngineTLS(c *config, value string) error {
	c.clusterTLS = clusterTLS{}
	if value == "" {
		return nil
	}
	files := strings.Split(value, ",")
	if len(files) != 3 || files[0] == "" || files[1] == "" || files[2] == "" {
		return fmt.Errorf("%q is not three files CA.pem,CERT.pem,KEY.pem", value)
	}
	for _, name := range files {
		if _, err := os.Stat(name); err != nil {
			return fmt.Errorf("the file cannot be read: %w", err)
		}
	}
	c.clusterTLS = clusterTLS{files[0], files[1], files[2]}
	return nil
}

// unfit lists settings that mean nothing for an engine on a cluster, and why.
var unfit = map[string]string{
	"data":          "the cluster keeps the data",
	"memory":        "the cluster keeps the data",
	"sync":          "the cluster acknowledges what is durable",
	"disk-reserve":  "the disks are those of the cluster",
	"mongo-replset": "one process of several is no replica set",
}

// imageData is a variable that the image of mayfly always has. It gives way to --engine, as it does to --memory.
const imageData = prefix + "DATA"

// checkEngine refuses settings that do not fit the engine.
func (c command) checkEngine(cmd *cobra.Command, out config, file map[string]given) error {
	if out.cluster == "" {
		if out.clusterTLS != (clusterTLS{}) {
			return fmt.Errorf("--engine-tls is for TLS to a cluster, and --engine names none: leave it out")
		}
		return nil
	}
	for _, s := range settings {
		why, refused := unfit[s.name]
		if !refused || !hasSetting(cmd, s) {
			continue
		}
		v, ok := c.given(cmd, s)
		if !ok {
			v, ok = file[s.name]
		}
		if ok && v.source != imageData {
			return fmt.Errorf("%s does not fit --engine %s: %s; leave it out", v.source, out.cluster, why)
		}
	}
	return nil
}
