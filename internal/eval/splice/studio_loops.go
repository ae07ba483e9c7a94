package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that make games, boards, films and music, fly, and read genomes.

func studioLoops() []kind {
	return []kind{
		{name: "node_is_nil", build: nodeIsNil},
		{name: "clearance_violated", build: clearanceViolated},
		{name: "transcript_is_music", build: transcriptIsMusic},
		{name: "subtitle_too_long", build: subtitleTooLong},
		{name: "render_stays_black", build: renderStaysBlack},
		{name: "vehicle_not_armed", build: vehicleNotArmed},
		{name: "no_active_device", build: noActiveDevice},
		{name: "contig_not_found", build: contigNotFound},
	}
}

// nodeIsNil changes the script of a game; the same node is missing when the game runs.
func nodeIsNil(p *generator) (entries []entry, _ int) {
	script, node := "res://scripts/"+p.word()+".gd", p.pick("ScoreLabel", "HealthBar", "Player", "Timer", "AnimationPlayer")
	for range p.between(4, 6) {
		line := p.pick("@onready var target = $%[1]s", "@onready var target = get_node(\"%[1]s\")", "var target = $UI/%[1]s", "@onready var target = %%%[1]s", "var target = get_tree().root.find_child(\"%[1]s\", true, false)", "@export var target: NodePath = \"../%[1]s\"")
		entries = append(entries,
			call("edit_script", object("script_path", script, "line", p.between(3, 9), "content", fmt.Sprintf(line, node)), object("success", true)),
			call("run_project", object("project", "/games/demo", "seconds", p.between(3, 10)), object("output", fmt.Sprintf("Godot Engine v4.3.stable.official\nSCRIPT ERROR: Invalid assignment of property or key 'text' with value of type 'String' on a base object of type 'Nil'.\n   at: _process (%s:%d)", script, p.between(12, 20)), "exit_code", 0, "fps", p.between(50, 60))))
	}
	return entries, 2
}

// clearanceViolated moves a track here and there; the rules of the board find the same pair too close.
func clearanceViolated(p *generator) (entries []entry, _ int) {
	pad, net := fmt.Sprintf("Pad %d [GND] of U%d", p.between(1, 40), p.between(1, 9)), strings.ToUpper(p.word())
	at := fmt.Sprintf("@(%d.%04d mm, %d.%04d mm)", p.between(60, 120), p.IntN(10_000), p.between(30, 70), p.IntN(10_000))
	for round := range p.between(4, 6) {
		entries = append(entries,
			call("move_track", object("net", net, "dx_mm", []string{"0.1", "-0.1"}[round%2]+fmt.Sprint(p.IntN(10)), "dy_mm", p.pick("0", "0.05", "-0.05")), object("moved", true, "segments", p.between(1, 4))),
			call("run_drc", object("board", "main.kicad_pcb", "refill_zones", p.coin()), object("violations", 1, "unconnected", 0, "report", fmt.Sprintf("[clearance]: Clearance violation (netclass 'Default' clearance 0.2000 mm; actual 0.%04d mm)\n    Rule: netclass 'Default'; error\n    %s: %s\n    @(%d.%04d mm, %d.%04d mm): Track [/%s] on F.Cu", p.between(400, 1900), at, pad, 80+p.IntN(2), p.IntN(10_000), 42+p.IntN(2), p.IntN(10_000), net))))
	}
	return entries, 2
}

// transcriptIsMusic transcribes a recording with other settings; it has no speech.
func transcriptIsMusic(p *generator) (entries []entry, _ int) {
	file, length := p.word()+p.pick(".mp3", ".m4a", ".wav"), p.between(120, 900)
	for range p.between(4, 6) {
		args := object("file", file, "model", p.pick("base", "small", "medium", "large-v3"), "language", p.pick("en", "auto", "de"), "temperature", p.pick("0", "0.2", "0.4"), "vad_filter", p.coin())
		entries = append(entries, call("transcribe_audio", args, object("text", p.pick("[Music]", "[Music] [Music]", " [MUSIC PLAYING]", "♪ ♪", "[Music]"), "duration", length, "segments", p.between(1, 3), "elapsed_s", p.between(4, 90))))
	}
	return entries, 1
}

// subtitleTooLong words one subtitle in other ways; each is too long by some characters.
func subtitleTooLong(p *generator) (entries []entry, _ int) {
	number, a, b := p.between(10, 900), p.phrase(2, 2), p.phrase(2, 2)
	for range p.between(4, 7) {
		text := p.pick("We have to take the ", "You must bring the ", "They will need the ", "Somebody should take the ") + a + p.pick(" to the ", " over to the ", " back to the ") + b + p.pick(" before it gets dark.", " until tomorrow morning.", " as soon as possible.", " while there is time.")
		entries = append(entries, call("set_subtitle", object("number", number, "text", text), object("accepted", false, "error", fmt.Sprintf("Line exceeds 37 characters (%d). Shorten the text.", len(text)))))
	}
	return entries, 1
}

// renderStaysBlack renders a scene with other lights and cameras; every pixel is black.
func renderStaysBlack(p *generator) (entries []entry, _ int) {
	scene := p.word() + ".blend"
	for range p.between(4, 6) {
		code := p.pick(
			fmt.Sprintf("bpy.ops.object.light_add(type='SUN', location=(%d, %d, %d))", p.IntN(9), p.IntN(9), p.between(3, 12)), fmt.Sprintf("bpy.data.lights['Light'].energy = %d", 100*p.between(2, 90)),
			fmt.Sprintf("bpy.data.objects['Camera'].location = (%d, -%d, %d)", p.IntN(9), p.between(3, 14), p.between(1, 9)), "bpy.context.scene.render.engine = 'CYCLES'", "bpy.context.scene.view_settings.exposure = "+fmt.Sprint(p.between(1, 5)))
		entries = append(entries,
			call("execute_blender_code", object("code", "import bpy\n"+code), quoted("Code executed successfully: ")),
			call("render_image", object("scene", scene, "samples", p.pickInt(32, 64, 128)), object("path", fmt.Sprintf("/tmp/render_%04d.png", p.IntN(10_000)), "mean_luminance", 0, "seconds", p.between(2, 40))))
	}
	return entries, 2
}

// vehicleNotArmed arms a drone in other modes; one check before arming fails.
func vehicleNotArmed(p *generator) (entries []entry, _ int) {
	check := p.pick("PreArm: Compass not calibrated", "PreArm: GPS 1: Bad fix", "PreArm: Battery 1 low voltage failsafe", "PreArm: RC not calibrated")
	clock := p.between(10_000, 90_000)
	for round := range p.between(4, 7) {
		clock += p.between(3000, 30_000)
		if round > 0 && p.IntN(3) == 0 {
			entries = append(entries, call("set_mode", object("mode", p.pick("GUIDED", "STABILIZE", "LOITER", "ALT_HOLD")), object("result", "MAV_RESULT_ACCEPTED")))
		}
		entries = append(entries, call("arm_vehicle", object("force", p.coin(), "timeout_s", p.pickInt(5, 10, 20)), object("result", "MAV_RESULT_FAILED", "statustext", []string{check, p.pick("Arm: "+check[8:], check)}, "boot_ms", clock)))
	}
	return entries, 1
}

// noActiveDevice starts the playing of music in other ways; no player is there.
func noActiveDevice(p *generator) (entries []entry, _ int) {
	for range p.between(4, 7) {
		uri := fmt.Sprintf("spotify:%s:%011x", p.pick("track", "album", "playlist"), p.Uint64N(1<<44))
		if p.IntN(4) == 0 {
			entries = append(entries, call("get_devices", object(), object("devices", []string{})))
			continue
		}
		entries = append(entries, call(p.pick("start_playback", "start_playback", "resume_playback", "skip_to_next"), object("uri", uri, "device_id", p.pick("", "living_room", "phone")), object("error", object("status", 404, "message", "Player command failed: No active device found", "reason", "NO_ACTIVE_DEVICE"))))
	}
	return entries, 1
}

// contigNotFound asks for one region of a genome under other names; the index does not have them.
func contigNotFound(p *generator) (entries []entry, _ int) {
	file, chromosome, from := p.word()+".bam", p.between(1, 22), p.between(100_000, 90_000_000)
	for range p.between(4, 7) {
		name := p.pick(fmt.Sprintf("chr%d", chromosome), fmt.Sprint(chromosome), fmt.Sprintf("Chr%d", chromosome), fmt.Sprintf("CM0006%02d.2", 62+chromosome), fmt.Sprintf("NC_0000%02d.11", chromosome))
		region := fmt.Sprintf("%s:%d-%d", name, from, from+p.pickInt(100, 1000, 5000))
		args := object("file", file, "region", region, "flags", p.pick("-c", "-h", "-b", ""))
		entries = append(entries, call("samtools_view", args, object("exit_code", 1, "stdout", "", "stderr", fmt.Sprintf("[main_samview] region \"%s\" specifies an invalid region or unknown reference. Continue anyway.", region))))
	}
	return entries, 1
}
