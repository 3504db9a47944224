#pragma once

#include "functions.h"
#include "pose.h"

// The structures and functions of OrbbecSDK that the driver uses. Every ob_ object is a dm_object; dm_fault is
// ob_error**.
// Source: ObTypes.h and the other headers in include/libobsensor/h/ of version 2.9.

typedef struct {
    float fx, fy, cx, cy;
    int16_t width;
    int16_t height;
} dm_orbbec_intrinsics;

typedef struct {
    float k1, k2, k3, k4, k5, k6, p1, p2;
    int32_t model;
} dm_orbbec_distortion;

#pragma clang assume_nonnull begin

// Not ob_delete_error: some versions of the library want a pointer, others a pointer to the pointer. _ZdlPv is the
// operator `delete` of C++, which either of them calls.
#define DM_ORBBEC(F, O) \
    F(errorMessage, ob_error_get_message, dm_text, dm_object error) \
    F(errorType, ob_error_get_exception_type, int32_t, dm_object error) \
    O(deleteError, _ZdlPv, void, dm_object error) \
    F(setLogLevel, ob_set_logger_severity, void, int32_t level, dm_fault) \
    F(setLogToConsole, ob_set_logger_to_console, void, int32_t level, dm_fault) \
    F(setExtensions, ob_set_extensions_directory, void, const char *folder, dm_fault) \
    F(createContext, ob_create_context, dm_object, dm_fault) \
    F(queryDevices, ob_query_device_list, dm_object, dm_object context, dm_fault) \
    F(deviceCount, ob_device_list_get_count, uint32_t, dm_object list, dm_fault) \
    F(deviceName, ob_device_list_get_device_name, dm_text, dm_object list, uint32_t place, dm_fault) \
    F(deviceSerial, ob_device_list_get_device_serial_number, dm_text, dm_object list, uint32_t place, dm_fault) \
    F(openDevice, ob_device_list_get_device, dm_object, dm_object list, uint32_t place, dm_fault) \
    F(openNetDevice, ob_create_net_device, dm_object, dm_object context, const char *address, uint16_t port, dm_fault) \
    F(openRecording, ob_create_playback_device, dm_object, const char *path, dm_fault) \
    F(deleteDevices, ob_delete_device_list, void, dm_object list, dm_fault) \
    F(deleteDevice, ob_delete_device, void, dm_object device, dm_fault) \
    F(deviceInfo, ob_device_get_device_info, dm_object, dm_object device, dm_fault) \
    F(infoName, ob_device_info_get_name, dm_text, dm_object info, dm_fault) \
    F(infoSerial, ob_device_info_get_serial_number, dm_text, dm_object info, dm_fault) \
    F(deleteInfo, ob_delete_device_info, void, dm_object info, dm_fault) \
    F(canSet, ob_device_is_property_supported, bool, dm_object device, int32_t property, int32_t permission, dm_fault) \
    F(setBool, ob_device_set_bool_property, void, dm_object device, int32_t property, bool value, dm_fault) \
    F(setInt, ob_device_set_int_property, void, dm_object device, int32_t property, int32_t value, dm_fault) \
    F(presets, ob_device_get_available_preset_list, dm_object, dm_object device, dm_fault) \
    F(presetCount, ob_device_preset_list_get_count, uint32_t, dm_object list, dm_fault) \
    F(presetName, ob_device_preset_list_get_name, dm_text, dm_object list, uint32_t place, dm_fault) \
    F(loadPreset, ob_device_load_preset, void, dm_object device, const char *name, dm_fault) \
    F(deletePresets, ob_delete_preset_list, void, dm_object list, dm_fault) \
    F(pause, ob_playback_device_pause, void, dm_object device, dm_fault) \
    F(resume, ob_playback_device_resume, void, dm_object device, dm_fault) \
    F(playbackStatus, ob_playback_device_get_current_playback_status, int32_t, dm_object device, dm_fault) \
    F(createPipeline, ob_create_pipeline_with_device, dm_object, dm_object device, dm_fault) \
    F(deletePipeline, ob_delete_pipeline, void, dm_object pipeline, dm_fault) \
    F(profiles, ob_pipeline_get_stream_profile_list, dm_object, dm_object pipeline, int32_t sensor, dm_fault) \
    F(profileCount, ob_stream_profile_list_get_count, uint32_t, dm_object list, dm_fault) \
    F(profile, ob_stream_profile_list_get_profile, dm_object, dm_object list, int32_t place, dm_fault) \
    F(deleteProfiles, ob_delete_stream_profile_list, void, dm_object list, dm_fault) \
    F(deleteProfile, ob_delete_stream_profile, void, dm_object profile, dm_fault) \
    F(profileFormat, ob_stream_profile_get_format, int32_t, dm_object profile, dm_fault) \
    F(profileWidth, ob_video_stream_profile_get_width, uint32_t, dm_object profile, dm_fault) \
    F(profileHeight, ob_video_stream_profile_get_height, uint32_t, dm_object profile, dm_fault) \
    F(profileRate, ob_video_stream_profile_get_fps, uint32_t, dm_object profile, dm_fault) \
    F(profileIntrinsics, ob_video_stream_profile_get_intrinsic, dm_orbbec_intrinsics, dm_object profile, dm_fault) \
    F(profileDistortion, ob_video_stream_profile_get_distortion, dm_orbbec_distortion, dm_object profile, dm_fault) \
    F(profilePose, ob_stream_profile_get_extrinsic_to, dm_camera_pose, dm_object profile, dm_object other, dm_fault) \
    F(createConfig, ob_create_config, dm_object, dm_fault) \
    F(deleteConfig, ob_delete_config, void, dm_object config, dm_fault) \
    F(enableStream, ob_config_enable_stream_with_stream_profile, void, dm_object config, dm_object profile, dm_fault) \
    F(setAggregation, ob_config_set_frame_aggregate_output_mode, void, dm_object config, int32_t mode, dm_fault) \
    F(disableSync, ob_pipeline_disable_frame_sync, void, dm_object pipeline, dm_fault) \
    F(startPipeline, ob_pipeline_start_with_config, void, dm_object pipeline, dm_object config, dm_fault) \
    F(stopPipeline, ob_pipeline_stop, void, dm_object pipeline, dm_fault) \
    F(waitForFrames, ob_pipeline_wait_for_frameset, dm_object, dm_object pipeline, uint32_t milliseconds, dm_fault) \
    F(colorFrame, ob_frameset_get_color_frame, dm_object, dm_object set, dm_fault) \
    F(depthFrame, ob_frameset_get_depth_frame, dm_object, dm_object set, dm_fault) \
    F(deleteFrame, ob_delete_frame, void, dm_object frame, dm_fault) \
    F(frameData, ob_frame_get_data, uint8_t *_Nullable, dm_object frame, dm_fault) \
    F(frameSize, ob_frame_get_data_size, uint32_t, dm_object frame, dm_fault) \
    F(frameWidth, ob_video_frame_get_width, uint32_t, dm_object frame, dm_fault) \
    F(frameHeight, ob_video_frame_get_height, uint32_t, dm_object frame, dm_fault) \
    F(frameFormat, ob_frame_get_format, int32_t, dm_object frame, dm_fault) \
    F(frameTime, ob_frame_get_timestamp_us, uint64_t, dm_object frame, dm_fault) \
    F(frameNumber, ob_frame_get_index, uint64_t, dm_object frame, dm_fault) \
    F(frameUnit, ob_depth_frame_get_value_scale, float, dm_object frame, dm_fault)
DM_FUNCTIONS(dm_orbbec_functions, DM_ORBBEC)

#pragma clang assume_nonnull end
