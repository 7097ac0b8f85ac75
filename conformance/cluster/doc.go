// Package cluster tests what mayfly rests on when several processes share a
// TiKV cluster, and mayfly itself: parts of the cluster are killed under load.
package cluster
