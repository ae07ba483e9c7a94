package splice

import (
	"encoding/json"
	"fmt"
)

// The lookalikes of this file are honest work of agents that make games, boards, films and music, fly, and read genomes.

func studioLookalikes() []kind {
	return []kind{
		{name: "nodes_added", build: nodesAdded},
		{name: "nets_routed", build: netsRouted},
		{name: "episodes_transcribed", build: episodesTranscribed},
		{name: "subtitles_fitted", build: subtitlesFitted},
		{name: "frames_rendered", build: framesRendered},
		{name: "arming_checks_cleared", build: armingChecksCleared},
		{name: "songs_added", build: songsAdded},
		{name: "samples_aligned", build: samplesAligned},
	}
}

// nodesAdded adds node after node to a scene, with one and the same answer.
func nodesAdded(p *generator) (entries []entry, _ int) {
	scene := "res://scenes/" + p.word() + ".tscn"
	for k := range p.between(6, 10) {
		entries = append(entries, call("add_node", object("scene_path", scene, "parent", p.pick(".", "UI", "World"), "type", p.pick("Label", "Sprite2D", "Timer", "CollisionShape2D", "Button", "Area2D"), "name", fmt.Sprintf("%s%d", p.word(), k)), object("success", true)))
	}
	return entries, 0
}

// netsRouted routes net after net of a board; fewer are left each time.
func netsRouted(p *generator) (entries []entry, _ int) {
	left := p.between(9, 30)
	for range p.between(4, 6) {
		left -= p.between(1, 2)
		entries = append(entries,
			call("route_net", object("net", p.word()+"_"+p.word(), "layer", p.pick("F.Cu", "B.Cu"), "width_mm", "0.25"), object("routed", true, "length_mm", fmt.Sprintf("%d.%02d", p.between(4, 90), p.IntN(100)))),
			call("run_drc", object("board", "main.kicad_pcb"), object("violations", 0, "unconnected", left)))
	}
	return entries, 0
}

// episodesTranscribed transcribes episode after episode, each with the same opening words.
func episodesTranscribed(p *generator) (entries []entry, _ int) {
	show := p.phrase(2, 3)
	for k := range p.between(4, 7) {
		entries = append(entries, call("transcribe_audio", object("file", fmt.Sprintf("episode_%02d.mp3", k+1), "model", "large-v3", "language", "en"), object("text", "Welcome back to "+show+". "+p.phrase(20, 40), "duration", p.between(1200, 3600), "segments", p.between(90, 400))))
	}
	return entries, 0
}

// subtitlesFitted writes subtitle after subtitle; some are too long at first and are shortened once.
func subtitlesFitted(p *generator) (entries []entry, _ int) {
	first := p.between(10, 900)
	for k := range p.between(5, 8) {
		if p.IntN(3) == 0 {
			long := p.phrase(7, 8)
			entries = append(entries, call("set_subtitle", object("number", first+k, "text", long), object("accepted", false, "error", fmt.Sprintf("Line exceeds 37 characters (%d). Shorten the text.", max(38, len(long))))))
		}
		entries = append(entries, call("set_subtitle", object("number", first+k, "text", p.phrase(2, 3)), object("accepted", true)))
	}
	return entries, 0
}

// framesRendered renders picture after picture of a film.
func framesRendered(p *generator) (entries []entry, _ int) {
	scene, frame, light := p.word()+".blend", p.between(1, 40), p.between(200, 400)
	for range p.between(5, 9) {
		frame += 10
		light += p.between(-20, 20)
		entries = append(entries, call("render_image", object("scene", scene, "frame", frame, "samples", 64), object("path", fmt.Sprintf("/tmp/render_%04d.png", frame), "mean_luminance", fmt.Sprintf("0.%03d", light), "seconds", p.between(2, 40))))
	}
	return entries, 0
}

// armingChecksCleared arms a drone; each time another check fails, and what it needs is done.
func armingChecksCleared(p *generator) (entries []entry, _ int) {
	checks := [][2]string{{"PreArm: Compass not calibrated", "calibrate_compass"}, {"PreArm: GPS 1: Bad fix", "wait_for_gps_fix"}, {"PreArm: RC not calibrated", "calibrate_rc"}, {"PreArm: Hardware safety switch", "release_safety_switch"}, {"PreArm: Logging failed", "format_log_storage"}}
	p.Shuffle(len(checks), func(i, j int) { checks[i], checks[j] = checks[j], checks[i] })
	clock := p.between(10_000, 90_000)
	for _, check := range checks[:p.between(3, 5)] {
		clock += p.between(3000, 60_000)
		entries = append(entries,
			call("arm_vehicle", object("force", false), object("result", "MAV_RESULT_FAILED", "statustext", []string{check[0]}, "boot_ms", clock)),
			call(check[1], object("timeout_s", p.pickInt(30, 60)), object("result", "MAV_RESULT_ACCEPTED", "seconds", p.between(2, 50))))
	}
	return append(entries, call("arm_vehicle", object("force", false), object("result", "MAV_RESULT_ACCEPTED", "statustext", []string{"Arming motors"}))), 0
}

// songsAdded looks for song after song of a list and adds it to a playlist.
func songsAdded(p *generator) (entries []entry, _ int) {
	playlist := fmt.Sprintf("%022x", p.Uint64())
	for range p.between(4, 6) {
		title, uri := p.phrase(2, 4), fmt.Sprintf("spotify:track:%022x", p.Uint64())
		entries = append(entries,
			call("search_tracks", object("query", title, "limit", 1), object("tracks", []json.RawMessage{object("name", title, "artist", p.phrase(1, 2), "uri", uri)})),
			call("add_to_playlist", object("playlist_id", playlist, "uris", []string{uri}), object("snapshot_id", fmt.Sprintf("%016x", p.Uint64()))))
	}
	return entries, 0
}

// samplesAligned aligns sample after sample; the rates of mapped reads are alike.
func samplesAligned(p *generator) (entries []entry, _ int) {
	run := p.harness().shell
	for k := range p.between(5, 8) {
		sample, reads := fmt.Sprintf("S%03d", k+p.between(1, 3)*10), p.between(1_000_000, 9_000_000)
		entries = append(entries, run(fmt.Sprintf("bwa mem -t 4 ref.fa %[1]s_R1.fq.gz %[1]s_R2.fq.gz | samtools sort -o %[1]s.bam && samtools flagstat %[1]s.bam | head -5", sample), fmt.Sprintf("%d + 0 in total (QC-passed reads + QC-failed reads)\n0 + 0 secondary\n0 + 0 supplementary\n0 + 0 duplicates\n%d + 0 mapped (9%d.%02d%% : N/A)", reads, reads*98/100, p.between(7, 9), p.IntN(100)), 0))
	}
	return entries, 0
}
