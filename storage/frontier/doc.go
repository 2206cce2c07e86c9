// Package frontier is the durable queue of URLs that closes the loop of a crawl: what is to be fetched
// next, what was seen in this round, and what the last visit of each URL left behind. It is the papers'
// SafeQueue and URLQueue, and loses nothing where those lost up to one save interval.
//
// What holds, through kill -9 and power loss:
//
//   - once the done of [Queue.Offer] is called without an error, every URL it accepted is handed out;
//   - once the done of [Lease.Done] is called, the URL is not handed out again in this round, unless a
//     crawl newly comes to it or comes nearer, and then as Stored;
//   - only what was leased and not done is handed out again after a crash: at most [QueueOptions]
//     MaxLeases URLs;
//   - a round that was not finished is resumed, with how each host wants to be treated.
//
// Nothing on disk says "in flight": leases live in memory. One committer writes: it gathers up to 256
// steps (offers, starts, dones, reports) for each fsync, so no caller waits for a disk, and what it
// decides about a URL needs no lock. Memory is bounded by the options, by the number of crawls and by
// the links of the leases out, never by the number of URLs or hosts.
//
// Hosts take turns within an urgency, a host's URLs go in the order of their discovery, and urgencies 3,
// 2 and 1 share in the proportion 8:3:1. A host that waits holds nobody else up.
package frontier
