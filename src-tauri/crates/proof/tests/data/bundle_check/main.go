// Checks a bundle's notes, trees and proofs with golang.org/x/mod/sumdb alone.
package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
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

// The log key under the names it signs with; one receipt alone names the log's only, and the task's checkpoint says the rest.
func verifiers() note.Verifiers {
	var known []note.Verifier
	lines := strings.Fields(string(read("keys/log.vkey")))
	for _, line := range lines {
		known = append(known, must(note.NewVerifier(line)))
	}
	if len(lines) == 1 {
		raw := must(base64.StdEncoding.DecodeString(strings.SplitN(lines[0], "+", 3)[2]))
		_, rest, _ := bytes.Cut(read(only("task/proofs.tlog-proof/*")), []byte("\n\n"))
		origin, _, _ := strings.Cut(string(rest), "\n")
		line := must(note.NewEd25519VerifierKey(origin, ed25519.PublicKey(raw[1:])))
		known = append(known, must(note.NewVerifier(line)))
	}
	return note.VerifierList(known...)
}

func only(pattern string) string { return must(filepath.Glob(pattern))[0] }

func has(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// The events of a whole task give the root that was signed.
func whole(keys note.Verifiers) int {
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
	_, size, root := head(read("task/checkpoint"), keys)
	if int64(len(events)) != size || must(tlog.TreeHash(size, reader)) != root {
		log.Fatal("the events do not give the root that was signed")
	}
	return len(events)
}

// Events that are shown alone stand where their proofs say.
func some(keys note.Verifiers) int {
	names := must(filepath.Glob("task/events/*.json"))
	for _, name := range names {
		number := strings.TrimSuffix(filepath.Base(name), ".json")
		placed("task/proofs.tlog-proof/"+number, read(name), keys)
	}
	return len(names)
}

// The gate's entries stand where their proofs say.
func gate(keys note.Verifiers) int {
	var numbers []int
	for _, name := range must(filepath.Glob("gate/proofs.tlog-proof/*")) {
		numbers = append(numbers, must(strconv.Atoi(filepath.Base(name))))
	}
	if len(numbers) == 0 {
		return 0
	}
	sort.Ints(numbers)
	entries := bytes.Split(bytes.TrimSuffix(read("gate/entries.jsonl"), []byte("\n")), []byte("\n"))
	for n, entry := range entries {
		placed(fmt.Sprintf("gate/proofs.tlog-proof/%d", numbers[n]), entry, keys)
	}
	text, _, _ := head(read("gate/checkpoint"), keys)
	placed("gate/checkpoint.tlog-proof", []byte(text), keys)
	return len(entries)
}

// The older checkpoint is the beginning of the one that the task's place leads to.
func since(keys note.Verifiers) int64 {
	if !has("log/checkpoint.prev") {
		return 0
	}
	_, old, oldRoot := head(read("log/checkpoint.prev"), keys)
	_, signed, _ := bytes.Cut(read("task/checkpoint.tlog-proof"), []byte("\n\n"))
	_, size, root := head(signed, keys)
	var proof tlog.TreeProof
	for _, line := range strings.Fields(string(read("log/consistency.txt")))[5:] {
		var hash tlog.Hash
		copy(hash[:], must(hex.DecodeString(line)))
		proof = append(proof, hash)
	}
	if err := tlog.CheckTree(proof, size, root, old, oldRoot); err != nil {
		log.Fatal("consistency: ", err)
	}
	return old
}

func main() {
	for _, root := range os.Args[1:] {
		if err := os.Chdir(root); err != nil {
			log.Fatal(err)
		}
		keys := verifiers()
		events := 0
		task := []byte{}
		if has("task/events.jsonl") {
			events = whole(keys)
		} else {
			events = some(keys)
		}
		if has("task/checkpoint") {
			text, _, _ := head(read("task/checkpoint"), keys)
			task = []byte(text)
			head(read("log/checkpoint"), keys)
		} else {
			_, signed, _ := bytes.Cut(read(only("task/proofs.tlog-proof/*")), []byte("\n\n"))
			text, _, _ := head(signed, keys)
			task = []byte(text)
		}
		placed("task/checkpoint.tlog-proof", task, keys)
		fmt.Printf("%s events %d entries %d since %d\n", filepath.Base(root), events, gate(keys), since(keys))
	}
}
