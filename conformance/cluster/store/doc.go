// Package store is a server of TiKV's transactional protocol: one store, whose
// regions have one peer each, over an ordered map on disk. It follows TiKV's
// own rules (tikv/tikv: src/storage/txn) for snapshots, optimistic and
// pessimistic transactions, commits in one or two phases and with the commit
// deferred (async commit), and for locks that their owner left behind.
//
// What it has acknowledged, locks included, outlives a kill -9 of its process.
// It does not call fsync, so a power cut is not survived. There is no Raft, no
// replication, no raw API and no coprocessor.
package store
