// Package cluster holds what runs a cluster on machines of others: by Docker, and by Kubernetes.
package cluster
