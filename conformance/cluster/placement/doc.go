// Package placement is a stand-in for PD, the placement driver of a TiKV
// cluster: one member, always the leader. It gives timestamps and identifiers,
// and knows stores, regions and safe points, through the gRPC service that
// client-go and stores call.
//
// What it has promised outlives a kill -9 of its process: a timestamp is never
// given twice or out of order, an identifier never twice. It never schedules,
// so regions stay where they are until their store splits them.
package placement
