// Checks a bundle's notes, trees and proofs with golang.org/x/mod/sumdb alone.
package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func read(name string) []byte { return must(os.ReadFile(name)) }

// The size and root that a note signs, once one of the bundle's keys has signed it.
func head(signed []byte, keys note.Verifiers) (string, int64, tlog.Hash) {
	opened := must(note.Open(signed, keys))
	lines := strings.Split(opened.Text, "\n")
	return opened.Text, must(strconv.ParseInt(lines[1], 10, 64)), must(tlog.ParseHash(lines[2]))
}

// Checks that a leaf stands where the proof says, under the checkpoint inside it.
func placed(name string, leaf []byte, keys note.Verifiers) {
	top, signed, _ := bytes.Cut(read(name), []byte("\n\n"))
	_, size, root := head(signed, keys)
	lines := strings.Split(string(top), "\n")
	if lines[0] != "c2sp.org/tlog-proof@v1" {
		log.Fatal("not a tlog-proof: ", name)
	}
	index := must(strconv.ParseInt(strings.TrimPrefix(lines[1], "index "), 10, 64))
	var proof tlog.RecordProof
	for _, line := range lines[2:] {
		var hash tlog.Hash
		copy(hash[:], must(base64.StdEncoding.DecodeString(line)))
		proof = append(proof, hash)
	}
	if err := tlog.CheckRecord(proof, size, root, index, tlog.RecordHash(leaf)); err != nil {
		log.Fatal(name, ": ", err)
	}
}

func main() {
	var known []note.Verifier
	for _, line := range strings.Fields(string(read("keys/log.vkey"))) {
		known = append(known, must(note.NewVerifier(line)))
	}
	keys := note.VerifierList(known...)

	// The task's tree, from its events.
	events := bytes.Split(bytes.TrimSuffix(read("task/events.jsonl"), []byte("\n")), []byte("\n"))
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var out []tlog.Hash
		for _, i := range indexes {
			out = append(out, stored[i])
		}
		return out, nil
	})
	for n, event := range events {
		stored = append(stored, must(tlog.StoredHashes(int64(n), event, reader))...)
	}
	text, size, root := head(read("task/checkpoint"), keys)
	if int64(len(events)) != size || must(tlog.TreeHash(size, reader)) != root {
		log.Fatal("the events do not give the root that was signed")
	}
	placed("task/checkpoint.tlog-proof", []byte(text), keys)
	text, _, _ = head(read("gate/checkpoint"), keys)
	placed("gate/checkpoint.tlog-proof", []byte(text), keys)

	// The gate's entries, each in its place.
	var numbers []int
	for _, name := range must(filepath.Glob("gate/proofs.tlog-proof/*")) {
		numbers = append(numbers, must(strconv.Atoi(filepath.Base(name))))
	}
	sort.Ints(numbers)
	entries := bytes.Split(bytes.TrimSuffix(read("gate/entries.jsonl"), []byte("\n")), []byte("\n"))
	for n, entry := range entries {
		placed(fmt.Sprintf("gate/proofs.tlog-proof/%d", numbers[n]), entry, keys)
	}
	fmt.Printf("events %d entries %d\n", len(events), len(entries))
}
