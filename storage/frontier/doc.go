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
//   - a round that was not finished is resumed, with how each host wants to be treated;
//   - a host that was paused is not asked until it is resumed;
//   - a host has no more URLs than [QueueOptions] HostURLs, what crawls start with apart.
//
// Nothing on disk records "in flight": leases live in memory. One committer writes: it gathers up to 256
// steps (offers, starts, dones, reports) for each fsync, so no caller waits for a disk, and what it
// decides about a URL needs no lock. Memory is bounded by the options, by the number of crawls and by
// the links of the leases out, never by the number of URLs or hosts.
//
// Most offers do not reach the disk: what was accepted lately is remembered, by as many bits as find a record
// (128), and a filter of at most 64 MiB tells of most others that they are new. It has every URL ever accepted, so
// it may cost a read in vain and never a URL; after a crash it is made anew while the disk is asked.
//
// Hosts take turns within an urgency, also where more are busy than the window in memory holds; a host's
// URLs go in the [Order] of the queue, which may change from run to run; and urgencies 3, 2 and 1 share in
// the proportion 8:3:1. A host that waits holds no other up, and its turn comes while others are busy.
//
// A run with an end asks for every page of a round. One that goes on and on asks for the starts of its
// crawls in each round, and for other pages as often as they change, within bounds that follow from the
// crawls' timing ([webrace.Visit] Interval).
//
// No time in the future that a wrong clock left behind keeps a URL from being asked for: see [ClockSetBack].
//
// [Store.Check] verifies all that this rests on. The tests in frontiertest prove the guarantees, of this
// store and of any other.
package frontier
